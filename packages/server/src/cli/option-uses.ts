/** Options that one use of a command reads, and another does not. What would be ignored is refused. */
import { InvalidArgumentError, type Command } from 'commander'
import { UsageError } from './outcome.ts'

/** A use of a command. */
export interface Use<Given> {
  /** Whether what was given chooses it. `parameters`: what is no option. */
  readonly is: (given: Given, parameters: readonly unknown[]) => boolean
  /** The words that end the sentence "--dry-run is read only …". */
  readonly words: string
}

/** By the name of an option. One that is left out is read by every use. */
type Uses<Given> = { readonly [Name in keyof Given]?: Use<Given> | undefined }

/** Refuses an option that was typed, and that the chosen use does not read. */
export function readBy<Given extends object>(command: Command, uses: Uses<Given>): Command {
  return command.hook('preAction', () => {
    for (const option of command.options) {
      const name = option.attributeName()
      const use = uses[name as keyof Given]
      if (use === undefined || command.getOptionValueSource(name) !== 'cli') continue
      if (!use.is(command.opts<Given>(), command.processedArgs as unknown[]))
        throw new UsageError(`${option.long ?? name} is read only ${use.words}.`)
    }
  })
}

/** Reads an option that is a selector in JSON. */
export function parseSelector(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}
