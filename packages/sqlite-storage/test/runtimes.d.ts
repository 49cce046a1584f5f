/** What the programs of other runtimes use of their modules. */
declare module 'cloudflare:workers' {
  import type { DurableObjectStorage } from '@pannier/sqlite-storage'

  export class DurableObject {
    readonly ctx: { readonly storage: DurableObjectStorage }
  }
}

declare module 'expo-sqlite' {
  import type { ExpoSqlite } from '@pannier/sqlite-storage'

  export const openDatabaseSync: ExpoSqlite['openDatabaseSync']
  export const deleteDatabaseSync: ExpoSqlite['deleteDatabaseSync']
}

declare module '@op-engineering/op-sqlite' {
  import type { OpSqlite } from '@pannier/sqlite-storage'

  export const open: OpSqlite['open']
}

declare module 'react-native-get-random-values' {}

declare module 'electron' {
  export const app: { getPath(name: 'userData'): string }
  export const ipcMain: { handle(channel: string, listener: () => unknown): void }
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
