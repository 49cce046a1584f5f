/** The tasks of a team in Svelte, for frameworks.browser.ts. */
import '../../frameworks/svelte.ts'
