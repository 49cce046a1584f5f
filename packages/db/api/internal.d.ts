// What `pannier/internal` offers. Written by `npm run api`.

import type {
  DocumentInput,
  PannierError,
  TransactionCollection,
  WriteOutcome,
} from 'pannier'

/** What the one who has a collection has to say about its replication. */
export interface CollectionHost {
    /** Runs each write to the collection, or refuses it by throwing: then the replication fails. */
    readonly around?: (<T>(write: () => Promise<T>) => Promise<T>) | undefined;
    /**
     * Called before revisions are written, each with `_id`, `_rev` and perhaps `_attachments`. Returns for each what to
     * write instead, or why it is denied.
     */
    readonly admit?: ((documents: readonly JsonDocument[]) => Promise<readonly (JsonDocument | PannierError)[]>) | undefined;
    /**
     * Writes what is admitted, instead of `collection.put` with `atomic: false` and `newEdits: false`. It has the same
     * outcomes.
     */
    readonly store?: ((documents: readonly JsonDocument[]) => Promise<readonly WriteOutcome[]>) | undefined;
    /** Is asked which of the documents that have changed (winners, tombstones too) are to be replicated from here. */
    readonly accept?: ((documents: readonly JsonDocument[]) => Promise<readonly boolean[]>) | undefined;
}

/** A document that is to be written, as a guard sees it inside the transaction. */
export interface DocumentBeforeWrite {
    /** In the batch. */
    readonly position: number;
    /** The sequence of the document's last change, a deletion too; 0: it is new. */
    readonly sequence: number;
    /** The document as it is; undefined if it is new or deleted. */
    old(): StoredDocument | undefined;
}

/**
 * Is asked inside the transaction about each document of a batch, before anything is changed: gives why it is refused. It may be asked
 * again about the same one.
 */
export type DocumentGuard = (document: DocumentBeforeWrite) => PannierError | undefined;

/** Begins the ids of documents that belong to one copy of a collection, such as replication checkpoints. */
export const LOCAL_PREFIX = "_local/";

/** The names of all options of `Options`. The compiler ensures that the list is complete. */
export type OptionNames<Options> = Readonly<Record<AllKeys<Options>, true>>;

/**
 * For packages built on this one, too.
 *
 * @param call The function that the user called.
 * @param must What must be: `durability must be 'relaxed' or 'strict'`.
 * @param got The value that came. Never a secret.
 * @example
 * throw badArgument('open()', 'name must be a string', 5)
 */
export function badArgument(call: string, must: string, got: unknown): TypeError;

/**
 * Throws a TypeError if `options` is not an object or has an unknown option; the message has the nearest known name.
 * For packages built on this one, too. `call` names the function in the message; the keys of `names` are the options.
 *
 * @example
 * checkOptions('open()', options, { storage: true, collections: true })
 */
export function checkOptions(call: string, options: unknown, names: object): void;

/** The same in the library. */
export function fromCouchAttachment({ content_type: contentType, ...others }: Attachment): Attachment;

/**
 * As `collection.put` with `atomic: false`, of documents that a guard judges inside the transaction that writes them. Nobody writes between
 * its judgement and the write. Documents of one batch must have different ids, or it would not see the first of them. For our own packages.
 */
export function putGuarded<T extends object, Input extends object>(collection: TransactionCollection<T, Input>, documents: readonly DocumentInput<Input>[], options: EditOptions, guard: DocumentGuard): Promise<WriteOutcome[]>;

/** An attachment as CouchDB's JSON has it. */
export function toCouchAttachment<A extends {
    readonly contentType?: unknown;
}>({ contentType, ...others }: A): Omit<A, 'contentType'> & {
    readonly content_type: A['contentType'];
};

/** A document as CouchDB's JSON has it; itself if it has no attachments. */
export function toCouchDocument<Document extends object>(document: Document): Document;

type AllKeys<Options> = Options extends unknown ? keyof Options : never;

type Attachment = Readonly<Record<string, unknown>>;

/** Whether a write makes a new revision or takes up one that another replica has made. */
interface EditOptions {
    /** False: the revisions were made elsewhere, and are taken up as they are. */
    readonly newEdits?: boolean;
}

type JsonDocument = Readonly<Record<string, unknown>>;

/** As the library hands it out: `_id` and `_rev` first. */
type StoredDocument = {
    _id: string;
    _rev: string;
} & Record<string, unknown>;
