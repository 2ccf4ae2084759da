//! Encrypts a message for one browser: RFC 8291, which is `aes128gcm` of RFC 8188 with keys of both sides.

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::error::Unspecified;
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};
use ring::rand::{SecureRandom, SystemRandom};

/// The length of a public key: an uncompressed point on P-256.
pub(super) const PUBLIC_KEY_BYTES: usize = 65;
/// The length of a browser's shared secret.
pub(super) const AUTH_BYTES: usize = 16;
/// The most bytes that fit into the one record that push services take.
pub(super) const PLAINTEXT_BYTES_MAX: usize = RECORD_BYTES - HEADER_BYTES - TAG_BYTES - 1;

const RECORD_BYTES: usize = 4096;
const SALT_BYTES: usize = 16;
const HEADER_BYTES: usize = SALT_BYTES + 4 + 1 + PUBLIC_KEY_BYTES;
const TAG_BYTES: usize = 16;
const NONCE_BYTES: usize = 12;
const KEY_BYTES: usize = 16;
/// Ends the last record.
const LAST_RECORD: u8 = 2;

/// The keys of the browser that reads the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recipient {
    /// Its public key.
    pub(super) public: [u8; PUBLIC_KEY_BYTES],
    /// A secret that it shares with us.
    pub(super) auth: [u8; AUTH_BYTES],
}

/// The parts that differ from message to message.
struct Fresh<'a> {
    shared: &'a [u8],
    public: &'a [u8],
    salt: [u8; SALT_BYTES],
}

/// Encrypts a message. Fails if the recipient's key is not on the curve or the message is too long.
pub(super) fn encrypt(recipient: &Recipient, plaintext: &[u8]) -> Result<Vec<u8>, Unspecified> {
    let random = SystemRandom::new();
    let private = EphemeralPrivateKey::generate(&ECDH_P256, &random)?;
    let public = private.compute_public_key()?;
    let mut salt = [0; SALT_BYTES];
    random.fill(&mut salt)?;
    let theirs = UnparsedPublicKey::new(&ECDH_P256, recipient.public);
    agree_ephemeral(private, &theirs, |shared| {
        let fresh = Fresh {
            shared,
            public: public.as_ref(),
            salt,
        };
        seal(recipient, &fresh, plaintext)
    })?
}

fn seal(recipient: &Recipient, fresh: &Fresh<'_>, plaintext: &[u8]) -> Result<Vec<u8>, Unspecified> {
    if plaintext.len() > PLAINTEXT_BYTES_MAX {
        return Err(Unspecified);
    }
    let combined = Salt::new(HKDF_SHA256, &recipient.auth).extract(fresh.shared);
    let info = [b"WebPush: info\0".as_slice(), &recipient.public, fresh.public];
    let material: [u8; 32] = expand(&combined, &info)?;
    let keys = Salt::new(HKDF_SHA256, &fresh.salt).extract(&material);
    let key: [u8; KEY_BYTES] = expand(&keys, &[b"Content-Encoding: aes128gcm\0"])?;
    let nonce: [u8; NONCE_BYTES] = expand(&keys, &[b"Content-Encoding: nonce\0"])?;

    let mut record = plaintext.to_vec();
    record.push(LAST_RECORD);
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key)?);
    // The key is used for this one record.
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut record)?;

    let mut body = Vec::with_capacity(HEADER_BYTES + record.len());
    body.extend_from_slice(&fresh.salt);
    body.extend_from_slice(&(RECORD_BYTES as u32).to_be_bytes());
    body.push(PUBLIC_KEY_BYTES as u8);
    body.extend_from_slice(fresh.public);
    body.extend_from_slice(&record);
    Ok(body)
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn expand<const N: usize>(secret: &Prk, info: &[&[u8]]) -> Result<[u8; N], Unspecified> {
    let mut bytes = [0; N];
    secret.expand(info, Length(N))?.fill(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;

    use super::*;

    fn bytes<const N: usize>(text: &str) -> [u8; N] {
        let decoded = BASE64_URL_SAFE_NO_PAD.decode(text).unwrap();
        decoded.try_into().unwrap()
    }

    /// RFC 8291, appendix A.
    #[test]
    fn the_example_of_the_specification_is_encrypted_as_it_says() {
        let recipient = Recipient {
            public: bytes(
                "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            ),
            auth: bytes("BTBZMqHH6r4Tts7J_aSIgg"),
        };
        let public: [u8; PUBLIC_KEY_BYTES] =
            bytes("BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8");
        let shared: [u8; 32] = bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs");
        let fresh = Fresh {
            shared: &shared,
            public: &public,
            salt: bytes("DGv6ra1nlYgDCS1FRnbzlw"),
        };
        let body = seal(&recipient, &fresh, b"When I grow up, I want to be a watermelon").unwrap();
        assert_eq!(
            BASE64_URL_SAFE_NO_PAD.encode(body),
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl\
             95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
        );
    }

    #[test]
    fn a_key_that_is_not_on_the_curve_and_a_message_that_is_too_long_are_refused() {
        let mut recipient = Recipient {
            public: [4; PUBLIC_KEY_BYTES],
            auth: [0; AUTH_BYTES],
        };
        assert!(encrypt(&recipient, b"x").is_err());
        recipient.public =
            bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4");
        assert!(encrypt(&recipient, &[0; PLAINTEXT_BYTES_MAX + 1]).is_err());
        let full = encrypt(&recipient, &[0; PLAINTEXT_BYTES_MAX]).unwrap();
        assert_eq!(full.len(), RECORD_BYTES);
    }
}
