/** The tasks of a team in Angular, for frameworks.browser.ts. */
import '../../frameworks/angular.ts'
