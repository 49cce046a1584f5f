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

/** Words that stand for a noun of another sentence. "One page", "this number" and the like have their noun. */
const PRONOUN =
  /^(?:(?:Those|They|Its?|Theirs?|Who(?:m|se|ever)?|What(?:ever)?|Of|None|Others|That|The ones?|The others)\b|(?:One|This|These|Both|Another|All|Each|Some|Any|The other|The same|Which)(?: (?:that|this|these|of|or|who|whom|whose|which|is|are|was|were|has|have|does|may|must|can|for|in|by|with|per|from|to|at|on|and|but|if|it|they|one|more|after|before|when|what|as|stands|opens)\b|[,.;:)]|$))/

/** The offence of a docstring that begins with a pronoun. Its reader does not know yet what is described. */
export function pronounOffence(text: string): Offence | undefined {
  const sentence = firstSentence(text)
  const found = PRONOUN.exec(sentence)
  return found === null ? undefined : { rule: `begins with "${found[0]}" (the noun first)`, sentence }
}

/** The offence of a docstring whose first sentence has no word of the code that it describes, nor of the glossary. */
export function nounOffence(text: string, code: string, glossary: ReadonlySet<string>): Offence | undefined {
  const sentence = firstSentence(text)
  const named = stemsOf(code)
  const isKnown = [...stemsOf(sentence)].some((stem) => named.has(stem) || glossary.has(stem))
  return isKnown ? undefined : { rule: 'no noun of the code or of the glossary', sentence }
}

function firstSentence(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().split(SENTENCE_END)[0] ?? ''
}

/** Words in lower case without their endings; those within names count, too. */
export function stemsOf(text: string): ReadonlySet<string> {
  const words = text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .match(/[a-z]{2,}/g)
  return new Set((words ?? []).map((word) => word.replace(/ies$/, 'y').replace(/(?<=..)(?:ing|ed|es|s|er|ion|e)$/, '')))
}

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
