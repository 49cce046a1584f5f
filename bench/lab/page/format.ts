/** Figures, dates and devices as a reader sees them. */
import type { ResultFile, Row } from '../../harness/results.ts'

export function formatValue(value: number, unit: Row['unit']): string {
  return unit === 'ms' ? formatTime(value) : formatBytes(value)
}

export function formatTime(milliseconds: number): string {
  if (milliseconds >= 10_000) return `${digits(milliseconds / 1000)} s`
  return milliseconds >= 0.1 || milliseconds === 0 ? `${digits(milliseconds)} ms` : `${digits(milliseconds * 1000)} µs`
}

export function formatBytes(bytes: number): string {
  const [divisor, unit] =
    bytes >= 2 ** 30 ? [2 ** 30, 'GiB'] : bytes >= 2 ** 20 ? [2 ** 20, 'MiB'] : bytes >= 1024 ? [1024, 'KiB'] : [1, 'B']
  return `${digits(bytes / Number(divisor))} ${unit}`
}

export function formatRatio(ratio: number): string {
  const digits = ratio >= 10 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 2 }
  return `${ratio < 0.01 ? '<0.01' : ratio.toLocaleString('en-US', digits)}×`
}

export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`
  return `${Math.round(seconds / 60)} min`
}

export function formatDate(iso: string): string {
  return new Date(iso).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
}

const PLACE_TITLES: Readonly<Record<ResultFile['place'], string>> = {
  node: 'Node',
  chromium: 'Chromium',
  firefox: 'Firefox',
  webkit: 'WebKit',
}

export function engineOf({ place, name, environment }: ResultFile): string {
  const version = environment.engineVersion
    .split('.')
    .slice(0, place === 'node' ? 2 : 1)
    .join('.')
  const engine = [`${PLACE_TITLES[place]} ${version}`, ...environment.features].join(' + ')
  return name === undefined ? engine : `${engine}: ${name}`
}

export function deviceOf({ environment }: ResultFile): string {
  const { processor, cores, memoryBytes, system } = environment
  const memory = memoryBytes > 0 ? `${formatBytes(memoryBytes)} memory` : undefined
  const named = processor.startsWith('not told') ? undefined : processor
  return [named, `${cores} ${cores === 1 ? 'core' : 'cores'}`, memory, system]
    .filter((text) => text !== undefined)
    .join(', ')
}

function digits(value: number): string {
  return value.toLocaleString('en-US', value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 })
}
