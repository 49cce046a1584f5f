/** What the golden encrypted databases hold, and who can open them. */
export const PASSWORDS = ['the first password', 'the second password'] as const

export interface GoldenNote {
  readonly _id: string
  readonly number: number
  readonly text: string
}

export function goldenNotes(first: number, count: number): GoldenNote[] {
  return Array.from({ length: count }, (_, index) => {
    const number = first + index
    return { _id: `note ${number}`, number, text: `What is written in ${number}. `.repeat(1 + (number % 40)) }
  })
}
