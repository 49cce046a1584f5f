/** The settings, as code changes and saves them. */
export class Settings {
  [name: string]: unknown

  constructor(values: Readonly<Record<string, unknown>>) {
    Object.assign(this, values)
  }
}
