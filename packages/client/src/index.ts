/** The client for apps of a Pannier server. */
export type { AccountRecord } from './account.ts'
export { connect } from './client.ts'
export type { AppTypes, CanQuestion, Client, ConnectOptions, UntypedCollections } from './client.ts'
export { ClientError } from './client-error.ts'
export type {
  Asking,
  ClientCollection,
  CollectionTypes,
  Reading,
  RecordName,
  TransactionWriting,
  Writing,
} from './collection.ts'
export type { CollectionDeclaration, Conflict, Merge } from './declaration.ts'
export type { WriteOptions } from './local-transaction.ts'
export type { PopupOptions } from './oauth2.ts'
export type { Passkey } from './passkeys.ts'
export type { ChangedRecords, ClientState } from './replica.ts'
export type { SecondWay, SignIn } from './sign-in.ts'
export type { SyncState } from './sync-loop.ts'
export type { RecordWrite, RejectedWrite, ServerAnswer, UnsentWrite, Write } from './write.ts'
export type { NamedRecord, Values } from './writes.ts'
