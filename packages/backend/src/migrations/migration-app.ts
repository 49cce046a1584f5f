/** Actions of migrations on the application: those of hooks, and changes of collections and settings. No rule stops them. */
import { checkOptions, type OptionNames } from 'pannier/internal'
import type { Definition } from '../definitions/definition.ts'
import {
  checkCollectionInput,
  checkFieldInput,
  type CollectionInput,
  type FieldInput,
} from '../definitions/definition-input.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { ReportInput } from '../definitions/report.ts'
import { SYSTEM, type Principal } from '../gateway/principal.ts'
import type { HookApp } from '../hooks/hook-app.ts'
import type { Settings } from '../settings/settings.ts'

/** Fields that a migration changes; others stay. They are known by their ids. */
export interface FieldChanges {
  /** Replaces the field of that id, or adds one, at a place in the list: at its end when left out. */
  readonly put?: readonly { readonly at?: number; readonly field: FieldInput }[]
  /** Ids of fields. Their values are lost. */
  readonly remove?: readonly string[]
}

/** The application, for migrations. No rule stops it, and no hook runs. */
export interface MigrationApp extends HookApp {
  /** @throws TypeError for an unknown option; ServiceError INVALID with data */
  createCollection(values: CollectionInput): Promise<Definition>
  /**
   * Changes a definition; parts that are left out stay. @throws TypeError for an unknown option; ServiceError NOT_FOUND; INVALID with
   * data
   */
  updateCollection(nameOrId: string, values: CollectionInput, fields?: FieldChanges): Promise<Definition>
  /** With its records. @throws ServiceError NOT_FOUND; INVALID if another collection refers to it */
  deleteCollection(nameOrId: string): Promise<void>
  /** Makes and changes collections. `deleteMissing` deletes others, and fields that are not in the list. @throws as `createCollection` */
  importCollections(list: readonly CollectionInput[], deleteMissing?: boolean): Promise<void>
  /** Makes a report, or changes the one of that name. @throws ServiceError INVALID with data */
  saveReport(values: ReportInput): Promise<void>
  /** @throws ServiceError NOT_FOUND */
  deleteReport(name: string): Promise<void>
  /** Changes settings; settings that are left out stay. @throws ServiceError INVALID with data */
  updateSettings(values: Readonly<Record<string, unknown>>): Promise<void>
}

const FIELD_CHANGES: OptionNames<FieldChanges> = { put: true, remove: true }

interface MigrationAppParts {
  readonly app: HookApp
  readonly definitions: Definitions
  readonly settings: Settings
  readonly reports: {
    import(principal: Principal, list: readonly unknown[], deleteMissing: boolean): Promise<void>
    delete(principal: Principal, name: string): Promise<void>
  }
}

/** Makes what the functions of a migration get. */
export function migrationApp({ app, definitions, settings, reports }: MigrationAppParts): MigrationApp {
  return {
    ...app,
    createCollection: async (values) => {
      checkCollectionInput('createCollection()', values)
      return definitions.create(SYSTEM, values)
    },
    updateCollection: async (nameOrId, values, changes) => {
      checkCollectionInput('updateCollection()', values)
      const fields = changes && { fields: withChanges(definitions.get(nameOrId), changes) }
      return definitions.update(SYSTEM, nameOrId, { ...values, ...fields })
    },
    deleteCollection: (nameOrId) => definitions.delete(SYSTEM, nameOrId),
    importCollections: async (list, deleteMissing = false) => {
      for (const [at, values] of list.entries()) checkCollectionInput(`importCollections() [${at}]`, values)
      return definitions.import(SYSTEM, list, deleteMissing)
    },
    saveReport: (values) => reports.import(SYSTEM, [values], false),
    deleteReport: (name) => reports.delete(SYSTEM, name),
    updateSettings: async (values) => void (await settings.update(SYSTEM, values as JsonObject)),
  }
}

function withChanges({ fields }: Definition, changes: FieldChanges): readonly unknown[] {
  checkOptions('updateCollection()', changes, FIELD_CHANGES)
  const { put = [], remove = [] } = changes
  const changed: Readonly<Record<string, unknown>>[] = fields
    .filter(({ id }) => !remove.includes(id))
    .map((field) => ({ ...field }))
  for (const { at, field } of put) {
    checkFieldInput('updateCollection() put', field)
    const old = changed.findIndex(({ id }) => id === field['id'])
    if (old >= 0) changed.splice(old, 1)
    changed.splice(at ?? changed.length, 0, field)
  }
  return changed
}
