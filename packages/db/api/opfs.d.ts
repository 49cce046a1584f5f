// What `pannier/opfs` offers. Written by `npm run api`.

import type {
  Database,
  DestroyOptions,
  OpenOptions,
  Storage,
} from 'pannier'

export interface OpfsDestroyOptions extends DestroyOptions, Pick<OpfsOptions, 'worker'> {
}

export interface OpfsOpenOptions<Schemas extends object = Record<string, unknown>> extends OpenOptions<Schemas>, Pick<OpfsOptions, 'worker'> {
}

export interface OpfsOptions {
    readonly worker?: () => Worker;
    readonly fallback?: Storage;
}

export function destroy(name: string, options?: OpfsDestroyOptions): Promise<void>;

export function open<Schemas extends object = object>(name: string, options?: OpfsOpenOptions<Schemas>): Promise<Database<Schemas>>;

export function opfs(options?: OpfsOptions): Storage;
