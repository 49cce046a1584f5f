/**
 * Names a replication by its stores and the documents that it selects. Replications with equal names continue from each
 * other's replication checkpoints. Others start again, also those of a store that was wiped and created again.
 * Credentials are not part of the name.
 */
import { Hash128, HASH_BYTES } from '../codec/hash.ts'
import type { PeerFilter, ReplicationPeer } from './peer.ts'

/** `filterText`: of a filter by name. */
export function replicationId(
  source: string,
  target: string,
  filter: PeerFilter,
  style: 'winner' | 'all',
  filterText?: string,
): string {
  const { ids, selector, identity, name, parameters } = filter
  const facts = [
    source,
    target,
    style,
    ids === undefined ? null : [...ids].sort(),
    selector === undefined ? null : canonical(selector),
    identity ?? null,
    name ?? null,
    parameters === undefined ? null : canonical(parameters),
    ...(filterText === undefined ? [] : [filterText]),
  ]
  const hash = new Hash128()
  hash.reset()
  hash.update(new TextEncoder().encode(JSON.stringify(facts)))
  const digest = new Uint8Array(HASH_BYTES)
  hash.digest(digest, 0)
  return `pannier-${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Names a replication by where its sides are found: known also while the other side can't be asked who it is. */
export function addressOf(
  source: ReplicationPeer,
  target: ReplicationPeer,
  filter: PeerFilter,
  style: 'winner' | 'all',
): string {
  return replicationId(source.name, target.name, filter, style)
}

/** JSON with sorted field names. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (value instanceof RegExp) return String(value)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return entries.map(([name, inner]) => [name, canonical(inner)])
}
