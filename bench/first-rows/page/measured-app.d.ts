/** The app that a page is built of (build.ts). */
declare module 'measured-app' {
  export const app: unknown
}
