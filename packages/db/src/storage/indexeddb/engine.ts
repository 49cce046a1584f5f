/** Which engine this is, for what can only be known by measurement. Nothing here decides what is right, only what is fast. */
export const isChromium: boolean = /Chrome\//.test(globalThis.navigator?.userAgent ?? '')
