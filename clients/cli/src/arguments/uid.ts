/** Tells the uid of an access key from a name: keys are given by name, and only deleted ones must be given by uid. */
const UID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const isUid = (text: string): boolean => UID.test(text)
