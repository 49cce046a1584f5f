/** BM25: rare words count more, repetition counts less and less, and in long texts a word counts less. */

const SATURATION = 1.2
const LENGTH_WEIGHT = 0.75

/** What a word is worth that so many of all documents have. */
export function wordWeight(documents: number, documentsWithWord: number): number {
  return Math.log(1 + (documents - documentsWithWord + 0.5) / (documentsWithWord + 0.5))
}

/** What its occurrences in one document are worth, in proportion to the length of an average document. */
export function occurrenceWeight(frequency: number, relativeLength: number): number {
  const dampened = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * relativeLength)
  return (frequency * (SATURATION + 1)) / (frequency + dampened)
}
