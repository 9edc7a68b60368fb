/** The archive of a function is what infra/build.ts made of its handler's file: functions/X.handler is .build/functions/X.zip. */

module.exports = class Artifacts {
  constructor(serverless) {
    this.hooks = {
      'before:package:initialize': () => {
        for (const name of serverless.service.getAllFunctions()) {
          const target = serverless.service.getFunction(name)
          target.package = { artifact: `.build/${target.handler.replace(/\.handler$/, '')}.zip` }
        }
      },
    }
  }
}
