declare const KEYPLANE_VERSION: string

/** The version of the deployment, which serves its own console. The build inserts it. */
export const version = KEYPLANE_VERSION
