/** Preferences that this browser keeps, by name: widths of columns, the theme. It may be missing or of another version. */
const PREFIX = 'pannier.admin.'

/** The name of the statements of SQL that were run. */
export const SQL_HISTORY = 'sql-history'

export function readKept<T>(name: string): T | undefined {
  try {
    const text = localStorage.getItem(PREFIX + name)
    return text === null ? undefined : (JSON.parse(text) as T)
  } catch {
    return undefined
  }
}

/** Undefined removes it. A browser that keeps nothing is no error. */
export function keep(name: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, JSON.stringify(value))
  } catch {
    // The storage is full or forbidden.
  }
}

/** Calls `listener` when another tab has kept something else. Returns what ends it. */
export function followKept(name: string, listener: () => void): () => void {
  const check = ({ key }: StorageEvent): void => {
    if (key === null || key === PREFIX + name) listener()
  }
  addEventListener('storage', check)
  return () => removeEventListener('storage', check)
}
