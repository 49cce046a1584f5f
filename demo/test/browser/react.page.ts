/** The tasks of a team in React, for frameworks.browser.ts. */
import '../../frameworks/react.tsx'
