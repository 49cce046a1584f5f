/** Finds offences in prose against docs/style.md and the column "not" of docs/glossary.md. */

export interface Limits {
  /** A longer sentence is an offence. */
  readonly wordsMax: number
  /** Markdown only: a longer line of prose is an offence. */
  readonly columnsMax?: number
}

export interface Offence {
  /** The rule and what broke it, e.g. `"whoever"` or `34 words`. */
  readonly rule: string
  readonly sentence: string
}

/** Words and turns that a reader with English as a second language stumbles over, and what to write instead. */
const TURNS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:whoever|whomever)\b/i, 'anyone who'],
  [/\banew\b/i, 'again'],
  [/\bso many\b|\bmanieth\b/i, 'the number, n-th'],
  [/\btold\b|\btells? of\b/i, 'an event, reported, known, distinguished'],
  [/\bof (?:which|whom|whose)\b/i, 'two sentences'],
  [/\bnone is\b|\bis none\b|\bthere is none\b|\bthere are none\b|\bthat is none\b/i, 'no ...'],
  [/\bit is the matter of\b|\bis a matter of\b/i, 'depends on'],
  [/\bbut for\b|\bsave for\b/i, 'except'],
  [/\bnothing but\b/i, 'only'],
  [/\b(?:go|goes|going|went|gone) on\b/i, 'continue'],
  [/\b(?:pass|passes|passed|passing) over\b/i, 'skip, ignore'],
  [/\bsees? to it\b/i, 'ensure'],
  [/\bin the place of\b/i, 'instead of'],
  [/\bas long as there is none\b|\bbe it\b|\bbe they\b/i, 'plain words'],
  [/\bthat there (?:is|are) not\b|\bthat is not there\b/i, 'unknown, missing'],
  [/\b(?:has|have|had) yet to\b|\bis yet to\b/i, 'not yet'],
  [
    /\b(?:thereof|therein|thereby|whereby|wherein|whereupon|hereby|henceforth|hitherto|nought|likewise)\b/i,
    'plain words',
  ],
  [/\b(?:lets?|letting) go of\b/i, 'release'],
  [/\bforesees?\b|\bforeseen\b/i, 'predict'],
  [/\bby and by\b|\bonce and for all\b|\bas good as\b/i, 'plain words'],
  [/\bat its (?:own )?ease\b|\bever so\b/i, 'plain words'],
  [/^(?:Who|What|Which) (?!.*\?$)(?:(?!\b(?:is|are|to|it|this|each|the)\b).)*?\bis (?:what|who)\b/, 'subject first'],
  [/^Who (?!.*\?$)/, 'a caller that, an app that'],
  [/^Of (?:several|two|one|many|those|what|these|all|each|a|an|the) /, 'subject first'],
]

/** Words of the glossary's column "not" that have no other meaning in this project. */
const SYNONYMS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [
    /(?<!\b(?:storage|replication|WAL|SQLite|SQLite's) )\bcheckpoint(?:s|ed|ing)?\b/i,
    'storage checkpoint, replication checkpoint',
  ],
  [/\bhead of the log\b|\bsealed head\b|\blog's head\b/i, 'log seal'],
  [/\bincludeDocs\b/, 'docs'],
  [/\bsequence numbers? of the feed\b/i, 'sequence'],
  [/\btidings\b/i, 'event'],
]

/** Every offence in `text`: plain prose, one paragraph, list item or table cell after the other, separated by blank lines. */
export function offencesIn(text: string, limits: Limits): Offence[] {
  return sentencesOf(text).flatMap((sentence) => offencesOfSentence(sentence, limits))
}

function offencesOfSentence(sentence: string, { wordsMax }: Limits): Offence[] {
  const offences: Offence[] = []
  for (const [pattern, instead] of [...TURNS, ...SYNONYMS]) {
    const found = pattern.exec(sentence)
    if (found) offences.push({ rule: `"${found[0]}" (${instead})`, sentence })
  }
  const words = wordsOf(sentence)
  if (words > wordsMax) offences.push({ rule: `${words} words`, sentence })
  return offences
}

/** Code in backticks counts as one word, and so does a link's target (as none). */
export function sentencesOf(text: string): string[] {
  const sentences: string[] = []
  for (const paragraph of text.split(/\n\s*\n/)) {
    const plain = paragraph
      .replace(/``.+?``|`[^`]*`/g, (code) => `\`${'x'.repeat(Math.min(code.length, 8))}\``)
      .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/\s+/g, ' ')
      .trim()
    sentences.push(...plain.split(SENTENCE_END).filter((sentence) => sentence.trim() !== ''))
  }
  return sentences
}

/** Not after "e.g.", "i.e." and the like. */
const SENTENCE_END = /(?<!\b(?:e\.g|i\.e|vs|cf|etc|approx|no)\.)(?<=[.!?]["')*_]*)\s+(?=["'(*_`]*[A-Z0-9`])/

function wordsOf(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}`]/u.test(word)).length
}
