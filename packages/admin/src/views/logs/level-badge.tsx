/** The level of a log in a word, and in a colour beside it. */
import type { ReactNode } from 'react'
import { OPERATIONS } from '../../texts/operations.ts'

const { levels } = OPERATIONS.logs

export function LevelBadge({ level }: { readonly level: number }): ReactNode {
  const name = level >= 8 ? 'error' : level >= 4 ? 'warning' : level >= 0 ? 'info' : 'debug'
  return <span className={`badge level-${name}`}>{levels[name]}</span>
}
