/** Migrations of `pb_migrations`, as the server applies its own. */
import type { Backend } from '@pannier/backend'
import { Runs } from './run.ts'
import { ThreadPool } from './thread-pool.ts'

/** The two functions of a file. */
interface MigrationSteps {
  up(): Promise<void>
  down(): Promise<void>
}

/** Gives the steps of a file, which run on the backend. @throws Error with the line of the file */
export function pocketBaseSteps(backend: Backend, hooksFolder: string): (file: string) => MigrationSteps {
  const run = async (file: string, step: 'up' | 'down'): Promise<void> => {
    const pool = new ThreadPool(backend.environment, hooksFolder)
    try {
      await new Runs(pool, { backend, store: new Map() }).migrate(file, step)
    } finally {
      await pool.close()
    }
  }
  return (file) => ({ up: () => run(file, 'up'), down: () => run(file, 'down') })
}
