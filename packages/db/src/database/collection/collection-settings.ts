/** Settings of a collection: checks and collects declared ones, and compares them with the stored ones. */
import { badArgument } from '../../base/options.ts'
import type { CollectionSettings, CollectionState } from '../../document/catalog.ts'
import { REVISIONS_LIMIT_MAX } from '../../document/revision.ts'

/** The settings that were declared; later declarations add to them. */
export type ChosenSettings = { -readonly [Name in keyof CollectionSettings]?: CollectionSettings[Name] }

/** Takes up what is declared; whether it is news. */
export function chooseSettings(chosen: ChosenSettings, { history, revisionsLimit }: Readonly<ChosenSettings>): boolean {
  if (history !== undefined && typeof history !== 'boolean')
    throw badArgument('collection()', 'history must be a boolean', history)
  if (revisionsLimit !== undefined) {
    const isLimit = Number.isInteger(revisionsLimit) && revisionsLimit >= 1 && revisionsLimit <= REVISIONS_LIMIT_MAX
    if (!isLimit)
      throw badArgument(
        'collection()',
        `revisionsLimit must be a whole number from 1 to ${REVISIONS_LIMIT_MAX}`,
        revisionsLimit,
      )
  }
  const before = { ...chosen }
  if (history !== undefined) chosen.history = history
  if (revisionsLimit !== undefined) chosen.revisionsLimit = revisionsLimit
  return before.history !== chosen.history || before.revisionsLimit !== chosen.revisionsLimit
}

export function hasSettings({ settings }: CollectionState, chosen: Readonly<ChosenSettings>): boolean {
  return Object.entries(chosen).every(([name, value]) => settings[name as keyof CollectionSettings] === value)
}
