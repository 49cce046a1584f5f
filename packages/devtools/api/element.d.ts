// What `@pannier/devtools/element` offers. Written by `npm run api`.

import type {
  AnyClient,
  AnyDatabase,
} from '@pannier/devtools'

/** The parts of an app that devtools show. */
export interface DevtoolsSources {
    /** Databases that the app has opened. */
    readonly databases?: readonly AnyDatabase[];
    /** Clients of a server. */
    readonly clients?: readonly AnyClient[];
    /** Replications, as `collection.sync` and `db.sync` return them. */
    readonly replications?: readonly Replication[];
}

/**
 * The element of devtools. It looks at its `sources` while it is in the page. The attribute `theme` is 'light' or 'dark'; without it the
 * look is that of the system. With the attribute `inline` it has a place in the page, and does not lie over its lower edge.
 *
 * @example
 * const devtools = new PannierDevtools()
 * devtools.sources = { databases: [db] }
 * document.body.append(devtools)
 */
export class PannierDevtools extends HTMLElement {
    /** The parts of the app to look at. */
    get sources(): DevtoolsSources;
    set sources(sources: DevtoolsSources);
}

/** A server that renders pages has no elements. It may load this file, and makes none. */
const HTMLElement: typeof globalThis.HTMLElement;
