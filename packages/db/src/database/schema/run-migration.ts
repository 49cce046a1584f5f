/** Migrations as their runner asks for them; loaded when there is one. */
import { checkOptions, type OptionNames } from '../../base/options.ts'
import type { WriteContext } from '../../document/write-documents.ts'
import { eitherSignal } from '../transfer/byte-stream.ts'
import type { DatabaseContext } from '../database-context.ts'
import type { CollectionSchema } from './collection-schema.ts'
import { migrateCollection, retryFailures } from './migrate.ts'
import type { MigrationOptions } from './migrate.ts'
import { listFailures } from './migration-failures.ts'
import type { MigrationFailure, RetryResult } from './migration-failures.ts'
import type { LongWork } from '../transfer/byte-stream.ts'

type Parts = [context: DatabaseContext, schema: CollectionSchema, writing: WriteContext, options: LongWork]

const RUN_OPTIONS: OptionNames<LongWork> = { signal: true, onProgress: true }

export function runMigration(...parts: Parts): Promise<void> {
  return migrateCollection(optionsOf(...parts))
}

export async function retryMigration(...parts: Parts): Promise<RetryResult> {
  checkOptions('retryMigration()', parts[3], RUN_OPTIONS)
  return await retryFailures(optionsOf(...parts))
}

export async function readFailures({ store, catalog }: DatabaseContext, name: string): Promise<MigrationFailure[]> {
  return await store.read((snapshot) => listFailures(snapshot, catalog.collection(snapshot, name)))
}

function optionsOf(...[context, schema, writing, { signal, onProgress }]: Parts): MigrationOptions {
  const { store, catalog, environment, closing } = context
  return { store, catalog, environment, signal: eitherSignal(closing, signal), onProgress, schema, writing }
}
