/** The files of the console, which clients/console/build.ts makes and infra/build.ts puts into the bundle of the function. */
declare module 'keyplane:console' {
  export const files: readonly import('./answer.ts').ConsoleFile[]
}
