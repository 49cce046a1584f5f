/** Which way `sync` goes. */
export const SYNC_POLICIES: {
  readonly SYNC_DOWNSTREAM: 0
  readonly SYNC_UPSTREAM: 1
  readonly SYNC_NONE: 2
} = Object.freeze({ SYNC_DOWNSTREAM: 0, SYNC_UPSTREAM: 1, SYNC_NONE: 2 })
