/** Declarations that the examples of docstrings take for granted, so that they can be short: their test imports it. */
import type { Attachment, Collection, Database, Query, Replication, SearchQuery, View } from 'pannier'
import type { Client, ClientCollection, NamedRecord, RejectedWrite, UntypedCollections } from '@pannier/client'
import type { PannierDevtools as Devtools } from '@pannier/devtools/element'
import type { JSONStore as Store } from '@pannier/jsonstore'
import type { BoundRule, RuleRecord, RuleRecords, Schema } from '@pannier/rules'
import type { PannierServer } from '@pannier/server'
import type { MovableDatabase } from 'pouchdb-adapter-pannier/move'

export interface Person {
  name: string
  age: number
  city?: string
  email?: string
  tags?: string[]
  active?: boolean
}

export interface Account {
  amount: number
}

export interface Post {
  title: string
  body: string
  draft: boolean
}

export declare const db: Database
export declare const people: Collection<Person>
export declare const messages: Collection<{ read: boolean }>
export declare const query: Query<Person>
export declare const search: SearchQuery<Person>
export declare const byCity: View<Person, string, number>
export declare const sync: Replication
export declare const attachment: Attachment
export declare const ann: { readonly _id: string; readonly _rev: string } & Person
export declare const JSONStore: typeof Store
export declare const PannierDevtools: typeof Devtools
export declare const server: PannierServer

export declare const client: Client<UntypedCollections>
export declare const tasks: ClientCollection<UntypedCollections[string]>
export declare const task: NamedRecord
export declare const project: string
export declare const rejected: RejectedWrite

export declare const schema: Schema
export declare const post: RuleRecord
export declare const records: RuleRecords
export declare const bound: BoundRule
export declare const tables: ReadonlyMap<string, ReadonlyMap<string, RuleRecord>>
export declare function askTheServer(): void

export declare const since: number
export declare const seq: number
export declare const city: string
export declare const id: string
export declare const password: string
export declare const user: { readonly wantsItFaster: () => Promise<boolean> }
export declare const signal: AbortSignal
export declare const file: File
export declare const response: { readonly body: ReadableStream<Uint8Array<ArrayBuffer>> }
export declare const image: HTMLImageElement
export declare const button: HTMLButtonElement
export declare const otpId: string
export declare const token: string
export declare const error: unknown

export declare function show(...values: readonly unknown[]): void
export declare function render(...values: readonly unknown[]): void
export declare function refresh(): void
export declare function offerExport(...values: readonly unknown[]): void
export declare function merge<T extends object>(mine: T | undefined, others: readonly T[]): T

/** PouchDB, with the adapter. */
export declare const PouchDB: {
  new (name: string, options: object): MovableDatabase
  plugin(adapter: (PouchDB: object) => void): void
}
