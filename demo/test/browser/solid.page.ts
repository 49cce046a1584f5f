/** The tasks of a team in Solid, for frameworks.browser.ts. */
import '../../frameworks/solid.ts'
