// Puts the platform's binary in the place of bin/cueme, so that no call of cueme starts Node. Where it cannot, the
// script that is there already starts the binary.
const fs = require("fs");
const path = require("path");

try {
  const binary = require.resolve(`@cueme/${process.platform}-${process.arch}/bin/cueme`);
  const place = path.join(__dirname, "bin", "cueme");
  const beside = `${place}.new`;
  fs.copyFileSync(binary, beside);
  fs.chmodSync(beside, 0o755);
  fs.renameSync(beside, place);
} catch (error) {
  console.error(`cueme: could not put the binary in place (${error.message}); every call starts Node first and is slower`);
}
