/** Style sheets of parts that are loaded when they are needed: the build gives their text. */
declare module "*.css" {
  const text: string;
  export default text;
}
