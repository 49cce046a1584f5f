/** The tasks of a team in Vue, for frameworks.browser.ts. */
import '../../frameworks/vue.ts'
