/** Runs one step of a file of `pb_migrations`. */
import { App } from './app.ts'
import { runFile } from './sources.ts'

type Step = (app: App) => unknown

export function migrate(file: string, step: 'up' | 'down'): void {
  const steps: Partial<Record<'up' | 'down', Step>>[] = []
  Object.assign(globalThis, {
    migrate: (up?: Step, down?: Step): void => void steps.push({ ...(up && { up }), ...(down && { down }) }),
  })
  runFile(file)
  for (const one of step === 'up' ? steps : steps.toReversed()) one[step]?.(new App())
}
