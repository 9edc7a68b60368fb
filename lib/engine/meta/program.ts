/** Says what the engine must know of the program around it where no port reaches: what it and its credentials are called. */

/** The name in requests to other hosts. */
export const PROGRAM = 'keyplane'

/** The group of the program's kinds. Its tokens have a claim of this name, and only the server sets labels with this prefix. */
export const PROGRAM_GROUP = 'management.platform'

/** What users call a credential. */
export const CREDENTIAL = 'access key'

/** A field of the program's kinds, as an example in descriptions of errors. */
export const FIELD = 'spec.scope.roles[0].role'
