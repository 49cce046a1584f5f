/** What the programs of other runtimes use of their modules. */
declare module 'cloudflare:workers' {
  export class DurableObject {
    readonly ctx: unknown
  }
}

declare module 'bun:sqlite' {
  export class Database {
    constructor(path: string)
    query(sql: string): {
      all(...parameters: readonly unknown[]): Readonly<Record<string, unknown>>[]
      run(...parameters: readonly unknown[]): { readonly changes: number }
    }
    close(): void
  }
}
