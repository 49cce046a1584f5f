/** Which records are selected. */
import { useMemo, useState } from 'react'

export interface Selection {
  readonly ids: ReadonlySet<string>
  has(id: string): boolean
  toggle(id: string): void
  add(ids: readonly string[]): void
  clear(): void
}

export function useSelection(): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  return useMemo(
    () => ({
      ids,
      has: (id) => ids.has(id),
      toggle: (id) =>
        setIds((before) => {
          const next = new Set(before)
          if (!next.delete(id)) next.add(id)
          return next
        }),
      add: (added) => setIds((before) => new Set([...before, ...added])),
      clear: () => setIds(new Set()),
    }),
    [ids],
  )
}
