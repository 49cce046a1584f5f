/** The contract of a driven browser and its pages; with-browser.ts makes one. */
import type { Engine } from './engines.ts'

export interface Browser {
  readonly engine: Engine
  readonly supports: Supports
  /** Pages that are open, could not be opened, or were killed: in WebKit they keep their places. */
  readonly pageCount: number
  /** The content of its pages, for a message: address and the end of the text of each. */
  describe(): Promise<string>
  /** Opens a tab and waits until the page has loaded. Starts the browser, on what it has stored, if it does not run. */
  open(url: string): Promise<Page>
  /** Ends the browser as a person would, if it runs. Its pages are gone. */
  end(): Promise<void>
  /** Kills all processes of the browser at once. */
  kill(): Promise<void>
}

/** Abilities of an engine while it is driven. */
export interface Supports {
  /** WebKit can't be given a quota. */
  readonly quota: boolean
  /** Firefox runs all tabs of one origin in one process: killing one kills all. */
  readonly killOneRenderer: boolean
  /** For the same reason it can't freeze one tab. */
  readonly freezeOneTab: boolean
  /** WebKit's pages are driven from within, where nobody can press a key. */
  readonly keys: boolean
  /** Only Chromium's protocol makes devices with passkeys. */
  readonly passkeys: boolean
}

export interface Page {
  /**
   * Runs a function in the page, waits for what it promises, and gives its result. The function sees only its
   * argument and the page; argument and result are JSON. Several may run at once, also in one page.
   */
  evaluate<Argument, Result>(
    body: (argument: Argument) => Result | Promise<Result>,
    argument: Argument,
  ): Promise<Result>
  evaluate<Result>(body: () => Result | Promise<Result>): Promise<Result>
  /** As a person presses a key, named as events name it. Without `supports.keys` the page gets it, and the browser does nothing. */
  press(key: string): Promise<void>
  /** Gives the page a device that keeps passkeys, and a person who agrees to everything, where `supports.passkeys`. */
  addPasskeyDevice(): Promise<void>
  /** Errors that the page has written to its console, and errors that it has not caught. Nothing in WebKit. */
  errors(): readonly string[]
  reload(): Promise<void>
  /** As a person closes a tab. */
  close(): Promise<void>
  /** Kills the process that runs the page in the middle of whatever it does. The page is of no use afterwards. */
  killRenderer(): Promise<void>
  /**
   * Stops the page, as browsers do with tabs that nobody looks at: Chromium runs no further task of it, WebKit's process
   * stops at once, wherever it is.
   */
  freeze(): Promise<void>
  thaw(): Promise<void>
}

/** A running browser, started by one of the drivers. */
export interface Session {
  open(url: string): Promise<Page>
  close(): Promise<void>
  kill(): Promise<void>
}
