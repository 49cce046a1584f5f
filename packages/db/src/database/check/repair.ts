/** Repairs a damaged database into a healthy one. The code is loaded on first use. */
import type { RepairOptions, RepairReport } from './repair-report.ts'
import { loadedModule } from '../../base/lazy-module.ts'
import { checkOptions, type OptionNames, badArgument } from '../../base/options.ts'
import { limitsOf } from '../lifecycle/open.ts'
import { inStorage } from '../lifecycle/storage-choice.ts'

const REPAIR_OPTIONS: OptionNames<RepairOptions> = {
  to: true,
  storage: true,
  encryption: true,
  onProgress: true,
  signal: true,
}

/**
 * Makes a healthy database from what can be read of a damaged one: documents with revisions and attachments, local
 * documents, settings and indexes. The damaged database must not be open, and stays unchanged. `repair` reads past
 * damaged pages, and takes documents from commits behind a damaged one. From an encrypted database it takes what
 * authenticates. The new database is another replica: its sequences begin again, and views are built on first use.
 *
 * @throws PANNIER_EXISTS if a database `to` exists; PANNIER_NOT_FOUND if no database `name` exists. PANNIER_CORRUPT if
 *   nothing can be read, because the meta record is damaged; PANNIER_ABORTED; as `open`.
 * @example
 * const report = await repair('shop', { to: 'shop-repaired' })
 * if (!report.isComplete) show(report.problems, report.collections)
 */
export async function repair(name: string, options: RepairOptions): Promise<RepairReport> {
  limitsOf(name, {}, 'repair()')
  checkOptions('repair()', options ?? {}, REPAIR_OPTIONS)
  const { to } = options ?? {}
  if (typeof to !== 'string' || to === '' || to === name)
    throw badArgument('repair()', 'to must be the name of another database', to)
  const { repairDatabase } = await loadedModule(import('./repair-database.ts'))
  return inStorage('repair()', name, options, (storage) => repairDatabase(name, { ...options, storage }))
}
