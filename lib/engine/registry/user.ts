/** Declares the user of a request. */

/** The user whom the server has authenticated. The program around the engine declares its further members (`declare module`). */
export interface User {
  name: string
}
