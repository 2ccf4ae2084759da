# Builds cueme from this repository; its version and dependencies are those of Cargo.toml and Cargo.lock.
# Use it as `git+https://…?dir=tests/packaging`. tests/package checks its syntax; it was never built.
{
  description = "Ask a human from any coding agent, and wait for the answer";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      forEach = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      manifest = builtins.fromTOML (builtins.readFile ../../Cargo.toml);
    in
    {
      packages = forEach (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "cueme";
          version = manifest.workspace.package.version;
          src = ../..;
          cargoLock.lockFile = ../../Cargo.lock;
          # Nix builds without the repository of git.
          env.CUEME_COMMIT = self.rev or "";
          cargoBuildFlags = [ "--package" "cueme" ];
          # The tests want a browser and agent programs: tests/run runs them.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/cueme man --directory man
            installManPage man/*.1
            installShellCompletion --cmd cueme \
              --bash <($out/bin/cueme completions bash) \
              --zsh <($out/bin/cueme completions zsh) \
              --fish <($out/bin/cueme completions fish)
          '';
          meta = {
            description = "Ask a human from any coding agent, and wait for the answer";
            license = pkgs.lib.licenses.mit;
            mainProgram = "cueme";
          };
        };
      });
    };
}
