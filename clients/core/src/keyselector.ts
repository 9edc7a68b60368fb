/** Writes the field selector with which clients find keys on the server. */

/** Returns the selector of the keys of an owner and a maker. The separators of selectors are escaped in values. */
export const keySelector = (selected: { owner?: string | undefined; maker?: string | undefined }): string =>
  Object.entries({ 'status.owner': selected.owner, 'status.madeWith.name': selected.maker })
    .flatMap(([field, value]) => (value === undefined ? [] : `${field}=${value.replaceAll(/[\\,=]/g, '\\$&')}`))
    .join()
