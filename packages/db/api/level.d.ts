// What `pannier/level` offers. Written by `npm run api`.

import type {
  Storage,
} from 'pannier'

export interface Level {
    readonly supports?: object;
    open(options?: {
        readonly passive?: boolean;
    }): Promise<void>;
    close(): Promise<void>;
    getSync?(key: string, options: LevelEncodings): Uint8Array | undefined;
    getMany(keys: string[], options: LevelEncodings): Promise<(Uint8Array | undefined)[]>;
    batch(operations: LevelOperation[], options: LevelEncodings & {
        readonly sync: boolean;
    }): Promise<void>;
    keys(options: LevelKeysOptions): {
        all(): Promise<string[]>;
    };
    clear(options: LevelRange): Promise<void>;
    approximateSize?(start: string, end: string, options: {
        readonly keyEncoding: 'utf8';
    }): Promise<number>;
}

export function level(source: Level | ((name: string) => Level)): Storage;

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
