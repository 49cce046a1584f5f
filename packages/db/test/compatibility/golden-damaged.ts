/** What is in the golden databases whose log does not replay (make-golden-damaged.ts). */
export interface DamagedNote {
  readonly _id: string
  readonly n: number
  readonly text: string
}

export const DAMAGED_PASSWORD = 'a damaged password'

/** Long, so that some hundred of them take more than one page. */
export function damagedId(n: number): string {
  return `${(n * 7919) % 1000}-`.padEnd(60, `${n}.`)
}
