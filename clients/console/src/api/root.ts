/** The URL of the API: the console is served beside it, at whatever address and below whatever stage. */
export const apiRoot = new URL('../kubernetes/management/', import.meta.url)

/** The URL of the API as commands name it. */
export const server = apiRoot.href.replace(/\/$/, '')

/** The URL of the console, to which an identity provider sends people back. */
export const consoleRoot = new URL('./', import.meta.url)
