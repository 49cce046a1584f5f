/** The JSONStore API on Pannier. */
export type { AdapterCall, AdapterOptions, InvokeProcedure, LoadOptions } from './adapter.ts'
export type { CallbackOptions } from './call.ts'
export { CODES } from './codes.ts'
export type { CodeName } from './codes.ts'
export type {
  AddOptions,
  ChangeOptions,
  CollectionListing,
  JSONStoreCollection,
  PushTarget,
  RemoveOptions,
  RemoveTarget,
  SearchCriteria,
  WriteOptions,
} from './collection.ts'
export type { CleanDocument } from './dirty.ts'
export { JSONStoreError } from './errors.ts'
export type { FindOptions } from './find-options.ts'
export type { CollectionConfig, InitOptions } from './init-options.ts'
export type { JQueryPromise, JSONStorePromise } from './promise.ts'
export { QueryPart } from './query-part.ts'
export type { QueryConditions, QueryPartConditions, QueryPartConstructor, QueryValue } from './query-part.ts'
export type { SearchFields, SearchFieldType } from './search-fields.ts'
export type { FileInfo, InitCollectionOptions, JSONStoreApi, JSONStoreSettings } from './store.ts'
export type { DirtyDocument, JsonObject, JSONStoreDocument, Operation } from './stored-document.ts'
export { importJSONStore } from './import-data.ts'
export type { ExportedCollection, ExportedData, ImportedCollection } from './import-data.ts'
export type { SyncOptions } from './sync.ts'

export { createJSONStore, JSONStore, WL } from './wl.ts'
export type { WorklightObject } from './wl.ts'
