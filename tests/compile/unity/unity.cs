// The members of Unity that docs/guides/unity.md uses: dispatches are printed.
using System;
using System.Collections.Generic;

namespace UnityEngine
{
    public class GraphicsBuffer
    {
        public enum Target { Raw }
        public readonly string Name;
        public GraphicsBuffer(string name) { Name = name; }
        public GraphicsBuffer(Target target, int count, int stride) { }
    }

    public class ComputeShader
    {
        public readonly List<string> Kernels = new List<string>();
        public int FindKernel(string name)
        {
            if (!Kernels.Contains(name)) Kernels.Add(name);
            return Kernels.IndexOf(name);
        }
    }
}

namespace UnityEngine.Rendering
{
    public class CommandBuffer
    {
        readonly SortedDictionary<string, string> bound = new SortedDictionary<string, string>(StringComparer.Ordinal);
        readonly SortedDictionary<string, int> numbers = new SortedDictionary<string, int>(StringComparer.Ordinal);

        public void SetComputeBufferParam(ComputeShader shader, int kernel, string name, GraphicsBuffer buffer)
        {
            bound[name] = buffer.Name;
        }

        public void SetComputeIntParam(ComputeShader shader, string name, int value) { numbers[name] = value; }

        public void DispatchCompute(ComputeShader shader, int kernel, int x, int y, int z)
        {
            Console.Write("{0} {1}x{2}x{3}", shader.Kernels[kernel], x, y, z);
            foreach (var one in bound) Console.Write(" {0}={1}", one.Key, one.Value);
            foreach (var one in numbers) Console.Write(" {0}={1}", one.Key, one.Value);
            Console.WriteLine();
            bound.Clear();
            numbers.Clear();
        }
    }
}

public static class Program
{
    public static void Main(string[] arguments)
    {
        var sorter = new Sorter(new UnityEngine.ComputeShader(), System.IO.File.ReadAllText(arguments[0]));
        var keys = new UnityEngine.GraphicsBuffer("keys");
        var buffers = new Dictionary<string, UnityEngine.GraphicsBuffer>
            { { "source", keys }, { "destination", keys }, { "scratch", new UnityEngine.GraphicsBuffer("scratch") } };
        for (int i = 1; i < arguments.Length; i++)
        {
            long n = long.Parse(arguments[i]);
            Console.WriteLine("n {0} {1}", n, sorter.ScratchBytes(n));
            sorter.Sort(new UnityEngine.Rendering.CommandBuffer(), n, buffers);
        }
    }
}
