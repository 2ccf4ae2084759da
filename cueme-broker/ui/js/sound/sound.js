/** The sound of a new question, loaded with the first one that makes it. */

/** @type {AudioContext | undefined} */
let audio;

/** Plays two soft notes. Browsers allow it once someone has touched the page. */
export function chime() {
  try {
    audio ??= new AudioContext();
    void audio.resume();
    note(audio, 660, 0);
    note(audio, 880, 0.14);
  } catch {
    // No sound device: the title and the notification have to do.
  }
}

/**
 * @param {AudioContext} context
 * @param {number} pitch
 * @param {number} after
 */
function note(context, pitch, after) {
  const start = context.currentTime + after;
  const tone = context.createOscillator();
  const volume = context.createGain();
  tone.frequency.value = pitch;
  volume.gain.setValueAtTime(0.0001, start);
  volume.gain.exponentialRampToValueAtTime(0.12, start + 0.02);
  volume.gain.exponentialRampToValueAtTime(0.0001, start + 0.5);
  tone.connect(volume).connect(context.destination);
  tone.start(start);
  tone.stop(start + 0.55);
}
