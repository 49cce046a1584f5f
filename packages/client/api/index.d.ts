// What `@pannier/client` offers. Written by `npm run api`.

/** An account as it sees itself. */
export type AccountRecord = Values & {
    readonly id: string;
    readonly collectionName: string;
};

/** Collections by name, as `pannier types --client` writes them. */
export type AppTypes<Types> = {
    readonly [Name in keyof Types]: CollectionTypes;
};

/** Asking for the server's answer to a write. */
export interface Asking<Types extends CollectionTypes> {
    /**
     * Whether the rules admit a new record with these values, by what is on this device. Undefined: that can't be known here. Fields
     * and hooks of the server may still refuse a write that is admitted.
     *
     * @example
     * button.hidden = (await tasks.can('create', { title: '', project })) === false
     */
    can(action: 'create', values: Types['create'] & {
        readonly id?: string;
    }): Promise<boolean | undefined>;
    /** Answers for a change. Without `values`: of any change. A record that is not on this device has no answer. */
    can(action: 'update', record: RecordName, values?: Types['update']): Promise<boolean | undefined>;
    /** Answers for a deletion. */
    can(action: 'delete', record: RecordName): Promise<boolean | undefined>;
}

/** The question of `client.can`. A record has the name of its collection. */
export type CanQuestion = readonly [action: 'create', collection: string, values: Values] | readonly [action: 'update', record: NamedRecord, values?: Values] | readonly [action: 'delete', record: NamedRecord];

/** The ids of records that have changed, by the names of collections. Undefined: they are too many to list. */
export type ChangedRecords = ReadonlyMap<string, readonly string[] | undefined>;

/** An app's end of a server. `connect` makes it. */
export class Client<Types extends AppTypes<Types>> {
    /** Ways to sign in. */
    readonly signIn: SignIn;
    /** The account that is signed in; undefined: nobody is. */
    get account(): AccountRecord | undefined;
    /** The account, its sync, and how much waits. Another object when something has changed. While the account changes: of the one before. */
    get state(): ClientState;
    /** The token of the session, for requests of the app's own. Undefined: nobody is signed in, or the client is closed. */
    get token(): string | undefined;
    /**
     * Calls back with the ids of records that have changed on this device, by collection, also by another tab. Undefined: too many to list.
     * The function returned ends it. A live query is better where it is enough.
     *
     * @example
     * const stop = client.subscribe((changed) => show([...changed.keys()]))
     */
    subscribe(listener: (changed: ChangedRecords) => void): () => void;
    /**
     * Calls back with `state`, soon, and when it is another one. The function returned ends it.
     *
     * @example
     * const stop = client.subscribeState(({ unsent }) => show(unsent))
     */
    subscribeState(listener: (state: ClientState) => void): () => void;
    /**
     * A collection of the account that is signed in when it is used.
     *
     * @example
     * const live = client.collection('tasks').find({ done: false }).live()
     */
    collection<Name extends keyof Types & string>(name: Name): ClientCollection<Types[Name]>;
    /**
     * Several writes, all or nothing, here and at the server. Read and write through `tx` only.
     *
     * @example
     * await client.transaction(async (tx) => {
     *   const { id } = await tx.collection('projects').create({ name: 'House' })
     *   await tx.collection('tasks').create({ title: 'Roof', project: id })
     * })
     */
    transaction<R>(body: (tx: {
        collection<Name extends keyof Types & string>(name: Name): TransactionWriting<Types[Name]>;
    }) => Promise<R>): Write<R>;
    /**
     * Transactions that the server has not answered, in the order in which they are sent. `state.unsent` counts them.
     *
     * @example
     * for (const { writes } of await client.unsent()) console.log(writes.map(({ action, id }) => `${action} ${id}`))
     */
    unsent(): Promise<UnsentWrite[]>;
    /**
     * Writes that the server refused, the oldest first. `state.rejected` counts them.
     *
     * @example
     * for (const rejected of await client.rejected()) console.log(rejected.message, rejected.writes, rejected.theirs)
     */
    rejected(): Promise<RejectedWrite[]>;
    /**
     * Calls back with what `rejected()` gives, soon, and when it is something else. The function returned ends it.
     *
     * @example
     * const stop = client.subscribeRejected((all) => show(all.map(({ message }) => message)))
     */
    subscribeRejected(listener: (rejected: readonly RejectedWrite[]) => void): () => void;
    /**
     * Whether the rules admit a write, by what is on this device. Undefined: that can't be known here.
     *
     * @example
     * button.disabled = (await client.can('update', task)) === false
     */
    can(...question: CanQuestion): Promise<boolean | undefined>;
    /**
     * Calls back with what `can` answers, soon, and when it is something else. The function returned ends it.
     *
     * @example
     * const stop = client.subscribeCan(['delete', task], (answer) => (button.hidden = answer === false))
     */
    subscribeCan(question: CanQuestion, listener: (answer: boolean | undefined) => void): () => void;
    /**
     * The content of a file of a record. One that waits on this device, or was read before, needs no network.
     *
     * @throws ClientError PANNIER_NOT_FOUND, PANNIER_PEER_UNREACHABLE; PannierError PANNIER_ABORTED
     * @example
     * const content = await client.file(task, 'sea_a1b2c3d4e5.jpg')
     */
    file(record: NamedRecord, name: string, options?: Waiting): Promise<Blob>;
    /**
     * Sends what waits and pulls what is new, now. A signal ends the wait; what is under way continues.
     *
     * @throws ClientError PANNIER_PEER_UNREACHABLE, PANNIER_SIGNED_OUT, PANNIER_PEER_REFUSED; PannierError PANNIER_ABORTED
     * @example
     * await client.sync({ signal: AbortSignal.timeout(10_000) })
     */
    sync(options?: Waiting): Promise<void>;
    /**
     * Ends the session. `keep` (default): the data stay for the next time, and so does what waits. `wipe`: they are deleted.
     *
     * @throws ClientError PANNIER_WRITES_UNSENT: `wipe` would lose writes that the server does not have; `discard: true` says that it may.
     * @example
     * await client.signOut({ data: 'wipe' })
     */
    signOut(options?: {
        readonly data?: 'keep' | 'wipe';
        readonly discard?: boolean;
    }): Promise<void>;
    /** Closes it. What waits is sent the next time. */
    close(): Promise<void>;
    /** Closes it, for `await using`. */
    [Symbol.asyncDispose](): Promise<void>;
}

/** The collection that `client.collection(name)` returns. */
export type ClientCollection<Types extends CollectionTypes> = Reading<Types['record']> & Writing<Types> & Asking<Types>;

/**
 * A failure of the client or of its server, with the codes of the library. `details` has what the server said: for forms the reasons by
 * field.
 *
 * @example
 * if (isPannierError(error, 'PANNIER_SIGNED_OUT')) show('Sign in again.')
 */
export class ClientError extends PannierError {
    /** Status of the server's answer. */
    readonly status: number | undefined;
    constructor(code: ErrorCode, message: string, facts?: ClientErrorFacts);
}

/** The state of a client: its account, its sync, and what waits. */
export interface ClientState extends SyncState {
    /** The account that is signed in; undefined: a guest. */
    readonly account: AccountRecord | undefined;
    /** Every collection was here as a whole once. Until then the app shows what has come. */
    readonly isComplete: boolean;
    /** The names of those that never were. */
    readonly incomplete: readonly string[];
    /** Unsent transactions, which the server has not answered. */
    readonly unsent: number;
    /** Refused transactions, see `client.rejected`. */
    readonly rejected: number;
    /** The data of the last account are closed, as they were not in sync for longer than the lease. It must sign in, online. */
    readonly isLeaseOver: boolean;
}

/** Which records of a collection come to the device, what becomes of conflicts, and what the library is to do with them. */
export interface CollectionDeclaration {
    /**
     * Only records that meet it come, in the language of rules: `"done = false"`. It reads the record's own fields, and no time. If it is
     * another one than before, all records are compared once more, and those that are not wanted any more leave.
     */
    readonly filter?: string;
    /**
     * The way to merge an update with changes that others have made to the record meanwhile. By default it is refused with CONFLICT.
     * - `fields`: it is refused only if others have changed one of its fields.
     * - A function gives the values to write now, or undefined: then it is refused. It may be called again.
     *
     * @example
     * const merge: Merge = ({ base, mine, theirs }) => ({ ...mine, text: mergeTexts(base.text, mine.text, theirs.text) })
     */
    readonly merge?: 'fields' | Merge;
    /** As `open` of the library takes them. */
    readonly indexes?: NonNullable<NonNullable<OpenOptions['collections']>[string]>['indexes'];
    /** As `open` of the library takes them. */
    readonly relations?: NonNullable<NonNullable<OpenOptions['collections']>[string]>['relations'];
}

/** The types that `pannier types --client` writes of each collection. */
export interface CollectionTypes {
    /** A record as the app reads it. */
    readonly record: object;
    /** The values of a new record. */
    readonly create: object;
    /** The values of a change, with modifiers. */
    readonly update: object;
}

/** An update that the server refused, as others have changed the record. */
export interface Conflict {
    /** The id of the record. */
    readonly id: string;
    /** The values that the update found in the fields that it changes. */
    readonly base: Values;
    /** The values of the update, with their modifiers. */
    readonly mine: Values;
    /** The record as the server has it. */
    readonly theirs: Values;
}

/** The options of `connect`. */
export interface ConnectOptions<Names extends string = string> extends Pick<OpenOptions, 'storage' | 'durability' | 'cacheBytesMax' | 'environment'> {
    /** The collections that the app reads and writes: their names, or by name their indexes as `open` of the library takes them. */
    readonly collections: readonly Names[] | {
        readonly [Name in Names]?: CollectionDeclaration;
    };
    /** The beginning of the names of databases on this device. By default it is derived from the URL. In Node it is the beginning of a path. */
    readonly name?: string;
    /** Encrypts what is on the device: a password or key, or what gives one for each account. */
    readonly encryption?: OpenOptions['encryption'] | ((account: string) => Promise<NonNullable<OpenOptions['encryption']>>);
    /**
     * How long a device opens the data of an account without sync: `'30d'`, `'12h'`, or milliseconds. Then the account must sign in, online.
     * It needs `encryption`, and is chosen before the first data are there.
     */
    readonly lease?: string | number;
    /** Milliseconds until a request has failed; 60,000 by default. */
    readonly requestMsMax?: number;
    /** False: it syncs when `client.sync()` is called. True by default: it sends at once, and hears of what is new. */
    readonly live?: boolean;
}

/** Merges an update into the changes of others to the record. */
export type Merge = (conflict: Conflict) => Values | undefined;

/** A record, as collections of the client give it. */
export interface NamedRecord {
    /** The id of the record. */
    readonly id: string;
    /** The name of the collection. */
    readonly collectionName: string;
}

/** A passkey of an account. */
export interface Passkey {
    /** Names it at the server. */
    readonly id: string;
    /** The name that the account gave the passkey. */
    readonly name: string;
    /** Other devices of the person may have it too. */
    readonly synced: boolean;
    /** When it was created. */
    readonly created: string;
    /** When it was used last; '': never. */
    readonly used: string;
}

/** How the window is opened. */
export interface PopupOptions {
    /** Opens the page of the provider. By default in a window. */
    readonly open?: (url: string) => unknown;
    /** Values of the account if it is new. */
    readonly createData?: Values;
    /** Gives up, as no event tells that a window was closed. */
    readonly signal?: AbortSignal;
}

/** The methods of the library's collection that read. */
export type Reading<T extends object> = Pick<Collection<T>, 'get' | 'find' | 'search' | 'list' | 'info' | 'ready' | 'indexes' | 'view' | 'mapReduce' | 'changes'>;

/** A record, or its id. */
export type RecordName = string | {
    readonly id: string;
};

/** One write of a transaction that is unsent or was rejected: what is to be shown beside each other. */
export interface RecordWrite {
    /** The name of the collection. */
    readonly collection: string;
    /** The id of the record. */
    readonly id: string;
    /** The action of the write on the record. */
    readonly action: 'create' | 'update' | 'delete';
    /** The values that were written; for an update the fields that it changes. */
    readonly mine: Values;
    /** The values that the write found in these fields; null: there was no record. */
    readonly base: Values | null;
}

/** A refused transaction, with those of this device that build on it: they go together. */
export class RejectedWrite {
    /** Names it among all rejected writes of this device. */
    readonly id: string;
    /** The place among `writes` of the one that was refused. */
    readonly at: number;
    /** `FORBIDDEN`, `INVALID`, `CONFLICT`, `NOT_FOUND` or `DEPENDS`. */
    readonly code: string;
    /** Why, for a person: with the reason of each field. */
    readonly message: string;
    /** The data: reasons by field. */
    readonly data: Values;
    /** All writes of the transaction, and of those that build on it. None if it was retried or discarded before `write.server` was asked. */
    readonly writes: readonly RecordWrite[];
    /** The record of the refused write as the server has it; null: the account sees no such record. */
    readonly theirs: Values | null;
    /**
     * Writes all of them again, based on what is there now. `edit` gives the values of a write; undefined leaves the write out.
     *
     * @throws ClientError PANNIER_NOT_FOUND: it was retried or discarded meanwhile
     * @example
     * await rejected.retry(({ mine }) => ({ ...mine, title: 'Another title' }))
     */
    retry(edit?: (write: RecordWrite) => Values | undefined): Write<void>;
    /** Discards them. */
    discard(): Promise<void>;
}

/** Said with the second of two ways to sign in. */
export interface SecondWay {
    /** `error.details.mfaId` of the first one, which failed with PANNIER_MFA_NEEDED. */
    readonly mfaId?: string;
}

/** The server's answer to a write. */
export type ServerAnswer = {
    readonly status: 'ok';
}
/** The refused write, which is in `client.rejected` until it is retried or discarded. */
 | {
    readonly status: 'rejected';
    readonly rejected: RejectedWrite;
};

/** A collection of accounts signs in. Each resolves with the account when its data are open. */
export class SignIn {
    /**
     * @throws ClientError PANNIER_MFA_NEEDED, PANNIER_PEER_REFUSED, PANNIER_PEER_UNREACHABLE
     * @example
     * await client.signIn.password('users', 'ann@example.com', password)
     */
    password(collection: string, identity: string, password: string, options?: SecondWay): Promise<AccountRecord>;
    /**
     * Makes an account, and signs it in. `values`: the other fields of the account.
     *
     * @throws ClientError PANNIER_PEER_REFUSED: `details` has the reasons by field; PANNIER_PEER_UNREACHABLE
     * @example
     * await client.signIn.up('users', { email: 'ann@example.com', password, name: 'Ann' })
     */
    up(collection: string, { email, password, ...values }: Values & {
        readonly email: string;
        readonly password: string;
    }): Promise<AccountRecord>;
    /**
     * Sends a mail with a link by which the address is verified. It says nothing about whether there is such an account.
     *
     * @example
     * await client.signIn.requestVerification('users', 'ann@example.com')
     */
    requestVerification(collection: string, email: string): Promise<void>;
    /**
     * Verifies the address. `token`: what the link in the mail has.
     *
     * @throws ClientError PANNIER_PEER_REFUSED: the token is old, or no such token; PANNIER_PEER_UNREACHABLE
     * @example
     * await client.signIn.confirmVerification('users', token)
     */
    confirmVerification(collection: string, token: string): Promise<void>;
    /**
     * Sends a mail with a link to a new password. It says nothing about whether there is such an account.
     *
     * @example
     * await client.signIn.requestPasswordReset('users', 'ann@example.com')
     */
    requestPasswordReset(collection: string, email: string): Promise<void>;
    /**
     * Sets a new password, and ends all sessions of the account. `token`: what the link in the mail has.
     *
     * @throws ClientError PANNIER_PEER_REFUSED: the token is old, or no such token, or the password is too short; PANNIER_PEER_UNREACHABLE
     * @example
     * await client.signIn.confirmPasswordReset('users', token, password)
     */
    confirmPasswordReset(collection: string, token: string, password: string): Promise<void>;
    /**
     * Sends a password for once by mail. Returns the id that goes with it.
     *
     * @example
     * const otpId = await client.signIn.requestOneTimePassword('users', 'ann@example.com')
     */
    requestOneTimePassword(collection: string, email: string): Promise<string>;
    /**
     * @throws ClientError PANNIER_MFA_NEEDED, PANNIER_PEER_REFUSED, PANNIER_PEER_UNREACHABLE
     * @example
     * await client.signIn.oneTimePassword('users', otpId, '12345678')
     */
    oneTimePassword(collection: string, otpId: string, password: string, options?: SecondWay): Promise<AccountRecord>;
    /**
     * Opens a window of the provider, such as 'google'. Call it in the handler of a click: browsers block other windows.
     *
     * @throws ClientError PANNIER_SIGN_IN_FAILED: no such provider, or the window was closed; PANNIER_MFA_NEEDED, PANNIER_PEER_REFUSED, PANNIER_PEER_UNREACHABLE
     * @example
     * button.onclick = () => client.signIn.oauth2('users', 'google')
     */
    oauth2(collection: string, provider: string, options?: PopupOptions & SecondWay): Promise<AccountRecord>;
    /**
     * Asks the device for a passkey. In browsers only.
     *
     * @throws ClientError PANNIER_SIGN_IN_FAILED: this device has none, or the user has said no; PANNIER_MFA_NEEDED, PANNIER_PEER_REFUSED, PANNIER_PEER_UNREACHABLE; PannierError PANNIER_ABORTED
     * @example
     * await client.signIn.passkey('users')
     */
    passkey(collection: string, options?: SecondWay & Waiting): Promise<AccountRecord>;
    /**
     * Takes up a session that began outside of the client: on a page of the server, or in another part of the app. `signOut` does not end it
     * at the server, as others have it too.
     *
     * @throws ClientError PANNIER_SIGNED_OUT: the session has ended; PANNIER_PEER_REFUSED, PANNIER_PEER_UNREACHABLE
     * @example
     * await client.signIn.token('users', localStorage.getItem('token')!)
     */
    token(collection: string, token: string): Promise<AccountRecord>;
    /**
     * Makes a passkey of the account, in browsers. `name`: what the account calls it. The account must have signed in within the last ten
     * minutes.
     *
     * @throws ClientError PANNIER_SIGNED_OUT: nobody is signed in; PANNIER_SIGN_IN_FAILED: as `passkey`; PANNIER_PEER_REFUSED, PANNIER_PEER_UNREACHABLE
     * @example
     * button.onclick = () => client.signIn.addPasskey('My phone')
     */
    addPasskey(name: string, options?: Waiting): Promise<Passkey>;
}

/** The part of a client's state that its sync knows. */
export interface SyncState {
    /**
     * - `starting`: it has not asked the server yet.
     * - `syncing`: it sends or pulls.
     * - `synced`: what is shown is what the server had a moment ago.
     * - `offline`: the server does not answer. It tries again.
     * - `signedOut`: the session has ended, or nobody is signed in and guests may not list some collection. What waits is kept.
     * - `failed`: the server refuses what is asked, see `error`. It tries again.
     */
    readonly status: 'starting' | 'syncing' | 'synced' | 'offline' | 'signedOut' | 'failed';
    /** The error of the last try; undefined after a success. */
    readonly error: ClientError | undefined;
    /** Rows of the first sync until now. */
    readonly received: number;
}

/** A collection inside of `client.transaction`. */
export interface TransactionWriting<Types extends CollectionTypes> extends Pick<Reading<Types['record']>, 'get' | 'find'> {
    /** Creates a record, as outside. */
    create(values: Types['create'] & {
        readonly id?: string;
    }): Promise<Types['record'] & {
        readonly id: string;
    }>;
    /** Updates a record, as outside. */
    update(id: string, values: Types['update'], options?: WriteOptions): Promise<Types['record']>;
    /** Deletes a record, as outside. */
    delete(id: string, options?: WriteOptions): Promise<void>;
}

/** An unsent transaction, which the server has not answered. */
export interface UnsentWrite {
    /** Names it among all that wait on this device. */
    readonly id: string;
    /** All writes of the transaction. */
    readonly writes: readonly RecordWrite[];
}

/** Collections without types. */
export type UntypedCollections = Record<string, Record<keyof CollectionTypes, Record<string, unknown>>>;

/** The fields of a record. */
export type Values = Readonly<Record<string, unknown>>;

/**
 * Awaited: the write is stored on this device, and the app sees it. Its `server` tells what the server said, which may be days later.
 *
 * @example
 * const write = tasks.create({ title: 'Buy milk' })
 * const task = await write
 * const answer = await write.server
 * if (answer.status === 'rejected') show(task, answer.rejected.message)
 */
export class Write<R> implements PromiseLike<R> {
    /** Resolves when the server has answered. A write that was not stored here rejects. */
    get server(): Promise<ServerAnswer>;
    /** The promise's `then`, for `await`. */
    then<A = R, B = never>(resolved?: ((value: R) => A | PromiseLike<A>) | null, rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<A | B>;
    /**
     * As of a promise.
     *
     * @example
     * const task = await tasks.create({ title: 'Buy milk' }).catch(() => undefined)
     */
    catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<R | B>;
    /**
     * As of a promise.
     *
     * @example
     * const task = await tasks.create({ title: 'Buy milk' }).finally(() => show('stored'))
     */
    finally(ended?: (() => void) | null): Promise<R>;
}

/** Options of a write about the record as it is. */
export interface WriteOptions {
    /** Whether to overwrite whatever the server has then. By default it refuses with CONFLICT what others have changed meanwhile. */
    readonly overwrite?: boolean;
}

/** The writes of a collection. The first await is for this device, `server` for the server. */
export interface Writing<Types extends CollectionTypes> {
    /**
     * Makes a record, with an id of its own or the one that is given. Fields that the server fills, such as dates, come with the next pull.
     *
     * @throws ClientError PANNIER_CONFLICT
     * @example
     * const { id } = await tasks.create({ title: 'Buy milk' })
     */
    create(values: Types['create'] & {
        readonly id?: string;
    }): Write<Types['record'] & {
        readonly id: string;
    }>;
    /**
     * Changes fields, with PocketBase's modifiers too: `{ 'count+': 1 }`.
     *
     * @throws ClientError PANNIER_NOT_FOUND
     * @example
     * const answer = await tasks.update(id, { done: true }).server
     */
    update(id: string, values: Types['update'], options?: WriteOptions): Write<Types['record']>;
    /**
     * @throws ClientError PANNIER_NOT_FOUND
     * @example
     * await tasks.delete(id)
     */
    delete(id: string, options?: WriteOptions): Write<void>;
}

/**
 * Connects an app with its server. It needs no network: what the device has is there at once.
 *
 * @example
 * const client = await connect('https://example.com', { collections: { tasks: { indexes: ['project'] } } })
 * await client.signIn.password('users', 'ann@example.com', password)
 * show(await client.collection('tasks').find({ done: false }).toArray())
 */
export function connect<Types extends AppTypes<Types> = UntypedCollections>(url: string | URL, options: ConnectOptions<NoInfer<keyof Types & string>>): Promise<Client<Types>>;

interface ClientErrorFacts {
    readonly status?: number | undefined;
    readonly details?: Readonly<Record<string, unknown>>;
    readonly cause?: unknown;
}

/** Options of calls that a user waits for. */
type Waiting = Pick<LongWork, 'signal'>;
