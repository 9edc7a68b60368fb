/** Names this program to servers and people. */
declare const KEYPLANE_VERSION: string | undefined

/** The version of the package, which the build inserts. */
export const version: string = typeof KEYPLANE_VERSION === 'string' ? KEYPLANE_VERSION : 'unbuilt'
