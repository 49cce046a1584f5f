/** Makes a healthy database of a damaged one. What does it is loaded with the first use. */
import type { RepairOptions, RepairReport } from './repair-report.ts'
import { loadedModule } from '../../base/lazy-module.ts'
import { checkOptions, type OptionNames, badArgument } from '../../base/options.ts'
import { limitsOf } from '../lifecycle/open.ts'

const REPAIR_OPTIONS: OptionNames<RepairOptions> = {
  to: true,
  storage: true,
  encryption: true,
  onProgress: true,
  signal: true,
}

/**
 * Makes a healthy database of what can be read of a damaged one, which stays as it is and must not be open: documents with revisions and
 * attachments, local documents, settings and indexes. It reads past damaged pages, and takes documents from commits behind a damaged
 * one; of an encrypted database what authenticates. The new database is another replica: its sequences begin again, and views are built
 * when they are asked for.
 *
 * @throws PANNIER_EXISTS if there is a database of the name `to`; PANNIER_NOT_FOUND if there is none of the name `name`; PANNIER_CORRUPT if
 *   nothing can be read, as the meta record is damaged; PANNIER_ABORTED; as `open`
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
  return repairDatabase(name, options)
}
