/** The URL of the API: the console is served beside it, at whatever address and below whatever stage. */
export const apiRoot = new URL('../kubernetes/management/', import.meta.url)
