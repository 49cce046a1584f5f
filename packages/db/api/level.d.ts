// What `pannier/level` offers. Written by `npm run api`.

import type {
  DatabaseStorage,
} from 'pannier'

export interface Level {
    /** `getSync`: whether that can be called. Its own type does not name it. */
    readonly supports?: object;
    /** `passive`: waits for it to be open, and does not open it. */
    open(options?: {
        readonly passive?: boolean;
    }): Promise<void>;
    close(): Promise<void>;
    getSync?(key: string, options: LevelEncodings): Uint8Array | undefined;
    getMany(keys: string[], options: LevelEncodings): Promise<(Uint8Array | undefined)[]>;
    /** A batch of operations, which is atomic. `sync`: resolves when it would survive a loss of power. */
    batch(operations: LevelOperation[], options: LevelEncodings & {
        readonly sync: boolean;
    }): Promise<void>;
    keys(options: LevelKeysOptions): {
        all(): Promise<string[]>;
    };
    clear(options: LevelRange): Promise<void>;
    /** The approximate size, where there is one. */
    approximateSize?(start: string, end: string, options: {
        readonly keyEncoding: 'utf8';
    }): Promise<number>;
}

/**
 * With a function each database has an abstract-level database of its own, which is opened with its first handle and closed with its
 * last. With an abstract-level database all are in that one, below their names; closing it is the caller's business, once they are
 * closed.
 *
 * @example
 * open('shop', { storage: level((name) => new ClassicLevel(name)) })
 * open('shop', { storage: level(new ClassicLevel('folder').sublevel('pannier')) })
 */
export function level(source: Level | ((name: string) => Level)): DatabaseStorage;

interface LevelEncodings {
    readonly keyEncoding: 'utf8';
    readonly valueEncoding: 'view';
}

interface LevelKeysOptions extends LevelRange {
    readonly reverse?: boolean;
    readonly limit?: number;
}

type LevelOperation = {
    readonly type: 'put';
    readonly key: string;
    readonly value: Uint8Array;
} | {
    readonly type: 'del';
    readonly key: string;
};

interface LevelRange {
    readonly gte: string;
    readonly lt: string;
    readonly keyEncoding: 'utf8';
}
