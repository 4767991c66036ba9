# Writes which lines of the files below the directory were run, as LCOV.
require "coverage"

module NexusCover
  def self.write(result)
    root = "#{@root}/"
    File.open(File.join(ENV["NEXUS_COVER"], "report.#{Process.pid}"), "w") do |out|
      result.each do |file, seen|
        lines = seen.is_a?(Hash) ? seen[:lines] : seen
        next if lines.nil? || !file.start_with?(root)

        out.puts "SF:#{file.delete_prefix(root)}"
        lines.each_with_index { |hits, i| out.puts "DA:#{i + 1},#{hits}" if hits }
        out.puts "end_of_record"
      end
    end
  end

  def self.start
    @root = Dir.pwd
    Coverage.start(lines: true)
    Coverage.singleton_class.prepend(Module.new do
      # A library that measures, too, takes the result away.
      def result(**how)
        NexusCover.write(peek_result)
        super
      end
    end)
    at_exit { write(Coverage.peek_result) if Coverage.running? }
  end
end

NexusCover.start
