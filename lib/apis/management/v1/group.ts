/** The API group of everything in this folder. */
export const group = 'management.platform'
export const version = 'v1'
